"""Options of clap, as its builder and its attributes declare them."""

from prism_scribe.core.wiki.clap_options import ClapOption, options

BUILT = r"""
Command::new("weigh")
    .arg(
        Arg::new("parcel")
            .help("The parcel to weigh. It may be \
                   \"heavy\".")
            .required(true),
    )
    .arg(
        Arg::new("retry-count")
            .long("retries")
            .short('r')
            .help("Weigh again <n> times.\nDefault: 3."),
    )
    .arg(Arg::new("quiet").long("quiet"))
"""
DERIVED = """
#[derive(Parser)]
struct Cli {
    /// Weigh again so often.
    /// The default is three.
    #[arg(short, long, default_value_t = 3)]
    retry_count: u32,
    #[arg(
        long = "scale",
        help = "Name of the scale"
    )]
    #[serde(default)]
    pub scale_name: Option<String>,
    /// The parcel to weigh.
    #[clap(value_name = "PARCEL")]
    parcel: String,
    not_an_option: u32,
}
"""


def test_options_of_a_builder() -> None:
    assert options(BUILT.split("\n")) == [
        ClapOption("<parcel>", 'The parcel to weigh. It may be "heavy".', 4),
        ClapOption("--retries, -r", "Weigh again `<n>` times. Default: 3.", 10),
        ClapOption("--quiet", "", 15),
    ]


def test_options_of_fields() -> None:
    assert options(DERIVED.split("\n")) == [
        ClapOption("--retry-count, -r", "Weigh again so often. The default is three.", 7),
        ClapOption("--scale", "Name of the scale", 13),
        ClapOption("<parcel>", "The parcel to weigh.", 16),
    ]


def test_an_attribute_that_nothing_closes_hides_no_option_far_below() -> None:
    text = ["#[arg(", *["    x,"] * 40, "/// The scale.", "#[arg(long)]", "scale: String,"]
    assert options(text) == [ClapOption("--scale", "The scale.", 44)]


def test_other_code_has_no_options() -> None:
    assert options(['fn main() { let a = "Arg::new"; }', "struct A {", "    b: u32,", "}"]) == []
