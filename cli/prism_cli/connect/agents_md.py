"""The text of `prism connect agents-md`: which tool to use when."""

TEXT = """## Code search with Prism

Prism's MCP tools know all indexed code: meaning, exact text, and who uses what. Prefer them to reading files
one by one. Answers name path:lines, and say whether they are complete; do not check a complete one again.

| to | call |
|---|---|
| find code by what it does, or by name | `search_code` |
| find every line with a text or regex | `grep_code` |
| list callers and uses of a symbol | `find_references` |
| see what a change breaks, and which tests to run | `impact_of_change` |
| prepare an edit: source, callers, tests, rules | `prepare_to_edit` |
| check whether something exists before writing it | `check_exists` |
| read several places at once | `read_file` with `places` |

Ask one precise question instead of many. The index may lag behind edits of this session: read files that you
changed from disk.
"""
