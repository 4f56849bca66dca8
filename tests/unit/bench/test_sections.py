"""Sections of a page that several commands write."""

from bench.sections import with_section_of, write_section

PAGE = "# Quality\n\nFirst.\n\n## Costs\n\nOld.\n\n## Legs\n\nLast.\n"


def test_section_is_replaced_and_the_rest_is_kept(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    write_section(page, "Costs", "New.\n")
    assert page.read_text() == PAGE.replace("Old.", "New.")


def test_missing_section_is_added_at_the_end(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Quality\n\nFirst.\n")
    write_section(page, "Costs", "New.")
    assert page.read_text() == "# Quality\n\nFirst.\n\n## Costs\n\nNew.\n"


def test_new_page_keeps_the_section_of_the_old_one(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert with_section_of(page, "Costs", "# New\n") == "# New\n\n## Costs\n\nOld.\n"
    assert with_section_of(page, "Missing", "# New\n") == "# New\n"
    assert with_section_of(tmp_path / "none.md", "Costs", "# New\n") == "# New\n"
