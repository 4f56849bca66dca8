"""Markdown of documents and wikis as HTML: raw HTML is shown as text, images are links, and links send no referrer."""

from functools import cache
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

NESTING_MAX: Final = 20
# A longer text is shown as it is.
CHARS_MAX: Final = 300_000
OUTSIDE: Final = "noopener noreferrer nofollow"


def markdown(text: str) -> Markup:
    """Returns a text as HTML. What is HTML in it is shown as text."""
    if len(text) > CHARS_MAX:
        return Markup("<pre>{}</pre>").format(text)
    parser = _parser()
    tokens = [_safe(token) for token in parser.parse(text)]
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - HTML is off in the parser


def _safe(token: Token) -> Token:
    """Returns a token without inline styles, and with images as links."""
    token.attrs.pop("style", None)  # columns of tables have one
    children: list[Token] = []
    for child in token.children or ():
        children += _image(child) if child.type == "image" else [_link(child)]
    if token.children:
        token.children = children
    return token


def _link(token: Token) -> Token:
    if token.type == "link_open":
        token.attrs["rel"] = OUTSIDE
    return token


def _image(token: Token) -> list[Token]:
    begin = Token("link_open", "a", 1, attrs={"href": token.attrs.get("src", ""), "rel": OUTSIDE})
    text = Token("text", "", 0, content=token.content or "image")
    return [begin, text, Token("link_close", "a", -1)]


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING_MAX}).enable("table")
