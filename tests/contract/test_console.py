"""The web console over HTTP: sign-in, sessions, rights, headers, and pages that show hostile text as text."""

import asyncio
import json
import re
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from gateway_stack import A_JOB, REPOSITORY, SECRET, Stack, digest_of, module_entry, signed_in

from prism_contracts import names
from prism_contracts.records import NO_TREE, JobCounts, JobState, Repository, Session
from prism_contracts.rpc.files import FileEntry
from prism_gateway.console.routes import VIEWS
from prism_gateway.console.sessions import IDLE
from prism_gateway.mcp.toolsets import TOOLS
from prism_gateway.scopes import ROUTES
from prism_runtime.records import Records, open_bucket

pytest_plugins = ["gateway_stack"]

ORIGIN = {"Sec-Fetch-Site": "same-origin"}
PAYLOAD = "\"><img src=x onerror=alert(1)><script>alert(2)</script>'{{7*7}}"
PAGES = [
    "/repos",
    "/repos/new",
    "/search",
    "/search?q=how",
    "/search?q=line&mode=exact",
    "/search?q=main&mode=symbol",
    "/r/acme/app",
    "/r/acme/app/-/remove",
    "/r/acme/app/-/tree/HEAD",
    "/r/acme/app/-/blob/HEAD/src/app.py",
    "/r/acme/app/-/blob/feature~x/src/app.py",
    "/r/acme/app/-/symbol/HEAD?name=main",
    "/r/acme/app/-/card/HEAD?name=main",
    "/r/acme/app/-/card/HEAD?name=unknown",
    "/r/acme/app/-/map/HEAD",
    "/r/acme/app/-/branches",
    "/r/acme/app/-/branch/topic",
    "/r/acme/app/-/compare",
    "/r/acme/app/-/compare/HEAD...topic",
    "/r/acme/app/-/wiki",
    "/documents",
    "/tasks",
    "/wiki",
    "/usage",
    "/usage?days=1&by=caller",
    "/usage?days=1&by=caller&repository=acme/app&call=search_code",
    "/audit",
    "/tokens",
    "/health",
]


def problem_of(answer) -> str:
    return re.search(r"<p><b>(.*?)</b>", answer.text)[1]


@pytest.mark.parametrize("page", PAGES)
async def test_a_page_needs_a_session(stack: Stack, page: str) -> None:
    async with stack.rest() as http:  # a bearer token opens no page
        answer = await http.get(page)
    assert answer.status_code == 303
    assert answer.headers["location"] == f"/login?next={quote(page, safe='/')}"


async def test_the_first_page_leads_to_the_repositories(stack: Stack) -> None:
    async with stack.rest() as http:
        assert (await http.get("/")).headers["location"] == "/login"
        await signed_in(http)
        assert (await http.get("/")).headers["location"] == "/repos"


async def test_a_cookie_is_out_of_reach_of_scripts_and_other_sites(stack: Stack) -> None:
    async with stack.rest() as http:
        answer = await http.post("/login", data={"token": SECRET, "next": "/search"}, headers=ORIGIN)
    assert answer.headers["location"] == "/search"
    cookie = answer.headers["set-cookie"].lower()
    assert {"httponly", "samesite=lax", "path=/"} <= {part.strip() for part in cookie.split(";")}
    assert SECRET not in answer.headers["set-cookie"]


async def test_over_https_the_cookie_is_secure_and_bound_to_its_host(make_stack) -> None:
    stack = await make_stack(public_url="https://prism.acme.dev")
    async with stack.rest() as http:
        headers = {"Origin": "https://prism.acme.dev"}
        answer = await http.post("/login", data={"token": SECRET}, headers=headers)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-prism=")
    assert "Secure" in cookie


@pytest.mark.parametrize("token", ["", "prism_unknown", "eyJhbGciOi", "x" * 5_000, "prism_" + "é" * 40])
async def test_a_wrong_token_does_not_sign_in(stack: Stack, token: str) -> None:
    async with stack.rest() as http:
        answer = await http.post("/login", data={"token": token}, headers=ORIGIN)
    assert answer.status_code == 403
    assert problem_of(answer) == "The token is unknown, expired or revoked."
    assert "set-cookie" not in answer.headers


async def test_an_address_that_guesses_is_slowed_down(make_stack) -> None:
    stack = await make_stack(unauthenticated_per_minute=2)
    async with stack.rest() as http:
        form = {"token": "prism_no"}
        tried = [(await http.post("/login", data=form, headers=ORIGIN)).status_code for _ in range(5)]
    assert 2 <= tried.count(403) <= 4  # a minute may begin between them
    assert 429 in tried


async def test_a_request_of_another_site_changes_nothing(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        for headers in (
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Origin": "https://evil.example"},
            {},
        ):
            for path in ("/login", "/logout", "/repos/new", "/r/acme/app/-/remove", "/r/acme/app/-/reindex"):
                answer = await http.post(path, data={"url": "https://x.dev/a.git"}, headers=headers)
                assert answer.status_code == 403, (path, headers)
        assert not stack.fake.asked
        assert (await http.get("/repos")).status_code == 200


async def test_signing_out_ends_the_session(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        cookies = dict(http.cookies)
        assert (await http.post("/logout", headers=ORIGIN)).headers["location"] == "/login"
        http.cookies.update(cookies)
        assert (await http.get("/repos")).status_code == 303


async def test_a_revoked_token_signs_everyone_out(stack: Stack) -> None:
    secret = "prism_" + "t" * 40
    await stack.change_token(secret, tenant="default", scopes=("read",))
    async with stack.rest() as http:
        await signed_in(http, secret)
        assert (await http.get("/repos")).status_code == 200
        await stack.change_token(secret, revoked_at=datetime.now(UTC))
        while (await http.get("/repos")).status_code == 200:
            pass
        assert (await http.get("/repos")).headers["location"] == "/login?next=/repos"
        fragment = await http.get("/search?q=x", headers={"X-Prism-Fragment": "1"})
        assert fragment.status_code == 401


@pytest.mark.parametrize(
    "change",
    [
        {"ends_at": datetime.now(UTC) - timedelta(seconds=1)},
        {"seen_at": datetime.now(UTC) - IDLE},
        {"is_code": True},
    ],
)
async def test_a_session_ends(stack: Stack, change: dict[str, object]) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        records = Records(await open_bucket(stack.bus.js, names.KV_SESSIONS), Session)
        key = digest_of(http.cookies["prism_session"])
        assert await records.change(key, lambda found: found.model_copy(update=change))
        assert (await http.get("/repos")).status_code == 303


async def test_nothing_that_is_stored_opens_prism(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        kv = await stack.bus.js.key_value(names.KV_SESSIONS)
        (key,) = await kv.keys()
        stored = key + (await kv.get(key)).value.decode()
        assert SECRET not in stored
        assert http.cookies["prism_session"] not in stored


async def test_a_code_signs_in_once(stack: Stack) -> None:
    async with stack.rest() as http:
        made = await http.post("/api/v1/sign-in-codes")
        assert made.status_code == 201
        link = f"/login?code={made.json()['code']}"
        http.headers.pop("Authorization")
        shown = await http.get(
            link, headers={"Sec-Fetch-Site": "cross-site"}
        )  # a link on another site asks first
        assert shown.status_code == 200
        assert "Sign in with this link" in shown.text
        assert (await http.get(link, headers={"Sec-Fetch-Site": "none"})).headers["location"] == "/repos"
        assert (await http.get("/repos")).status_code == 200
        again = await http.get(link, headers={"Sec-Fetch-Site": "none"})
        assert again.status_code == 403
        assert "prism open" in again.text


async def test_an_old_code_does_not_sign_in(stack: Stack) -> None:
    async with stack.rest() as http:
        code = (await http.post("/api/v1/sign-in-codes")).json()["code"]
        records = Records(await open_bucket(stack.bus.js, names.KV_SESSIONS), Session)
        past = datetime.now(UTC) - timedelta(seconds=1)
        await records.change(digest_of(code), lambda found: found.model_copy(update={"ends_at": past}))
        assert (await http.post("/login", data={"code": code}, headers=ORIGIN)).status_code == 403


@pytest.mark.parametrize("page", PAGES)
async def test_a_page_has_strict_headers_and_no_inline_script_or_style(stack: Stack, page: str) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get(page)
    assert answer.status_code == 200, answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert " style=" not in answer.text
    assert "<style" not in answer.text
    assert not re.search(r"<script(?![^>]* src=\"/assets/)", answer.text)
    assert not re.search(r"<[^>]*\son\w+=", answer.text)
    assert "http://" not in re.sub(r'placeholder="[^"]*"', "", answer.text)


async def test_assets_are_cached_for_ever_under_the_hash_of_their_content(stack: Stack) -> None:
    async with stack.rest() as http:
        page = (await http.get("/login")).text
        (style,) = set(re.findall(r"/assets/[\w.]+\.css", page))
        answer = await http.get(style, headers={"Accept-Encoding": "gzip"})
        assert answer.headers["content-encoding"] == "gzip"
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-type"].startswith("text/css")
        for name in ("console.000000000000.css", "..%2fassets.py", "console.css"):
            assert (await http.get(f"/assets/{name}")).status_code == 404


async def test_hostile_text_is_shown_as_text(stack: Stack) -> None:
    hit = stack.fake.hits[0].model_copy(
        update={
            "file_path": f"src/{PAYLOAD}.py",
            "content": PAYLOAD,
            "symbol": PAYLOAD,
            "matched": (PAYLOAD,),
        }
    )
    stack.fake.hits = (hit,)
    async with stack.rest() as http:
        await signed_in(http)
        for page in (
            f"/search?q={quote(PAYLOAD)}&repo={quote(PAYLOAD)}&ref={quote(PAYLOAD)}",
            f"/search?q={quote(PAYLOAD)}&mode=exact&path={quote(PAYLOAD)}",
            f"/search?q={quote(PAYLOAD)}&mode=symbol&language=x",
            f"/r/{quote(PAYLOAD)}",
            f"/r/acme/app/-/blob/{quote(PAYLOAD, safe='')}/src/app.py",
            f"/r/acme/app/-/blob/HEAD/{quote(PAYLOAD)}",
            f"/r/acme/app/-/tree/HEAD/{quote(PAYLOAD)}",
            f"/r/acme/app/-/symbol/HEAD?name={quote(PAYLOAD)}&path={quote(PAYLOAD)}",
        ):
            answer = await http.get(page)
            assert answer.headers["content-type"].startswith("text/html"), page
            assert "<img" not in answer.text, page
            assert "<script>" not in answer.text, page
            assert "49" not in re.findall(r"img src=x.{0,80}", answer.text), page
        answer = await http.get(f"/login?next={quote(PAYLOAD)}&code={quote(PAYLOAD)}")
        assert "<img" not in answer.text


async def test_hostile_paths_of_a_map_are_shown_as_text(stack: Stack) -> None:
    stack.fake.modules = tuple(
        module_entry(number).model_copy(
            update={"file_path": f"{PAYLOAD}{number}/{PAYLOAD}", "summary": PAYLOAD}
        )
        for number in range(3)
    )
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get("/r/acme/app/-/map/HEAD")
    assert answer.status_code == 200, answer.text
    assert answer.text.count('<rect class="box core"') == 3
    assert "<img" not in answer.text
    assert "<script>" not in answer.text
    assert " style=" not in answer.text


def change_layer(stack: Stack, path: str, before: str, after: str) -> None:
    """Have the layer `topic` add a file, change the first of the base, and remove all others."""
    file = FileEntry(file_path="src/000.py", blob="c" * 40, language="python", lines=9)
    stack.fake.files_of_layer = (file, file.model_copy(update={"file_path": path}))
    stack.fake.texts = {("", "src/000.py"): before, ("topic", "src/000.py"): after, ("topic", path): after}


async def test_a_branch_is_shown_beside_its_base(stack: Stack) -> None:
    change_layer(stack, "src/new.py", "one\ntwo\nthree\n", "one\n2\nthree\n")
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get("/r/acme/app/-/branch/topic")
    assert answer.status_code == 200, answer.text
    page = answer.text
    assert [page.count(f'<li><span class="mark {mark}">') for mark in ("changed", "added", "removed")] == [
        1,
        0,
        199,
    ]
    assert "The first 200 of 501 files." in page
    assert re.search(r'class="l gone"><a class="no" href="/r/acme/app/-/blob/HEAD/src/000.py#L2">2</a>', page)
    assert re.search(r'class="l add">.*?href="/r/acme/app/-/blob/topic/src/000.py#L2">2</a>', page)
    assert "Not compared: its text could not be read." in page
    assert "test_a_full_van" in page
    asked = next(one for one in stack.fake.asked if type(one).__name__ == "ImpactRequest")
    assert asked.ref == "topic"
    assert "-two\n+2\n" in asked.diff


async def test_hostile_text_of_a_branch_is_shown_as_text(stack: Stack) -> None:
    path = f"a/{PAYLOAD}.py"
    change_layer(stack, path, "x\n", f"{PAYLOAD}\n")
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get("/r/acme/app/-/branch/topic")
    assert answer.status_code == 200, answer.text
    assert answer.text.count("&lt;img") == 4  # in the list, above its lines, and in two texts
    assert "<img" not in answer.text
    assert "<script>" not in answer.text
    assert " style=" not in answer.text


async def test_a_branch_that_is_not_indexed_has_no_page(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get(f"/r/acme/app/-/branch/{quote(PAYLOAD.replace('/', '~'))}")
    assert answer.status_code == 404
    assert "Open the page of branches" in answer.text
    assert "<img" not in answer.text


async def test_two_refs_are_shown_beside_each_other(stack: Stack) -> None:
    change_layer(stack, "a/new.py", "one\ntwo\n", "one\n2\n")
    async with stack.rest() as http:
        await signed_in(http)
        there = (await http.get("/r/acme/app/-/compare/HEAD...topic")).text
        back = (await http.get("/r/acme/app/-/compare/topic...HEAD")).text
        form = await http.get("/r/acme/app/-/compare", params={"from": "feature/x", "to": "HEAD"})
    assert there.count('<li><span class="mark added">') == 1
    assert "The first 200 of 501 files." in there
    assert 'class="l add">' in there
    assert "test_a_full_van" in there
    assert back.count('<li><span class="mark removed">') == 1
    assert [one.ref for one in stack.fake.asked if type(one).__name__ == "ImpactRequest"] == ["topic", ""]
    assert form.headers["location"] == "/r/acme/app/-/compare/feature~x...HEAD"


async def test_a_page_of_two_refs_links_to_the_lines_of_both(stack: Stack) -> None:
    change_layer(stack, "src/new.py", "one\ntwo\n", "one\n2\n")
    async with stack.rest() as http:
        await signed_in(http)
        page = (await http.get("/r/acme/app/-/compare/topic...HEAD")).text
    assert re.search(r'class="l gone"><a class="no" href="/r/acme/app/-/blob/topic/src/000.py#L2">', page)
    assert re.search(r'class="l add">.*?href="/r/acme/app/-/blob/HEAD/src/000.py#L2">', page)
    assert 'href="/r/acme/app/-/compare/HEAD...topic"' in page


async def test_a_ref_that_prism_does_not_hold_says_what_to_do(stack: Stack) -> None:
    stack.fake.unserved = {"gone", "feature/y"}
    stack.fake.source = "https://git.example/acme/app"
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get("/r/acme/app/-/compare/gone...feature~y")
    assert answer.status_code == 404
    for ref in ("gone", "feature/y"):
        assert f"Prism holds no {ref} of acme/app." in answer.text
        assert f'<input type="hidden" name="ref" value="{ref}">' in answer.text
    assert "Similar refs: topic." in answer.text
    stack.fake.source = "upload"
    async with stack.rest() as http:
        await signed_in(http)
        page = (await http.get("/r/acme/app/-/compare/gone...feature~y")).text
    assert "prism index PATH --name acme/app --ref feature/y" in page
    assert "impact" not in str([type(one).__name__ for one in stack.fake.asked]).lower()


async def test_who_may_not_index_is_told_who_may(stack: Stack) -> None:
    stack.fake.unserved = {"gone"}
    stack.fake.source = "https://git.example/acme/app"
    secret = "prism_" + "q" * 40
    await stack.change_token(secret, tenant="default", scopes=("read",))
    async with stack.rest() as http:
        await signed_in(http, secret)
        page = (await http.get("/r/acme/app/-/compare/HEAD...gone")).text
    assert "Someone with the scope <code>write</code>" in page
    assert 'name="ref"' not in page


@pytest.mark.parametrize("refs", ["HEAD", "...topic", "HEAD...", "..."])
async def test_an_address_without_two_refs_shows_the_form(stack: Stack, refs: str) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get(f"/r/acme/app/-/compare/{refs}")
    assert answer.status_code == 404
    assert '<input name="from"' in answer.text


async def test_hostile_refs_are_shown_as_text(stack: Stack) -> None:
    ref = PAYLOAD.replace("/", "~")
    stack.fake.unserved = {PAYLOAD, ref}
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get(f"/r/acme/app/-/compare/{quote(ref)}...HEAD")
        long = await http.get(f"/r/acme/app/-/compare/{'x' * 300}...HEAD")
    assert "<img" not in answer.text
    assert "<script>" not in answer.text
    assert long.status_code == 404
    assert "Prism holds no" in long.text


async def test_a_card_has_what_a_name_means(stack: Stack) -> None:
    symbol = stack.fake.definition.symbol.model_copy(update={"docstring": "\n  Run it.\n\nMore."})
    stack.fake.definition = stack.fake.definition.model_copy(update={"symbol": symbol})
    async with stack.rest() as http:
        await signed_in(http)
        card = (await http.get("/r/acme/app/-/card/HEAD?path=src/app.py&name=main")).text
        file = (await http.get("/r/acme/app/-/blob/HEAD/src/app.py")).text
    assert "<html" not in card
    assert "<code>def main()</code>" in card
    assert "<p>Run it.</p>" in card
    assert "/r/acme/app/-/blob/HEAD/src/app.py#L3" in card
    assert "42 uses, 3 of them by name only" in card
    assert 'data-card="/r/acme/app/-/card/HEAD?path=src/app.py&amp;name="' in file


async def test_a_card_shows_no_definition_of_a_similar_name(stack: Stack) -> None:
    symbol = stack.fake.definition.symbol.model_copy(update={"name": "mains", "qualified_name": "mains"})
    stack.fake.definition = stack.fake.definition.model_copy(update={"symbol": symbol})
    async with stack.rest() as http:
        await signed_in(http)
        card = (await http.get("/r/acme/app/-/card/HEAD?name=main")).text
    assert "No definition of <code>main</code>" in card
    assert "mains" not in card


async def test_hostile_text_of_a_card_is_shown_as_text(stack: Stack) -> None:
    fields = dict.fromkeys(("name", "qualified_name", "signature", "docstring"), PAYLOAD)
    symbol = stack.fake.definition.symbol.model_copy(update=fields)
    stack.fake.definition = stack.fake.definition.model_copy(update={"symbol": symbol, "file_path": PAYLOAD})
    async with stack.rest() as http:
        await signed_in(http)
        stack.fake.known = ("main", PAYLOAD)
        for name in ("main", quote(PAYLOAD)):
            card = await http.get(f"/r/acme/app/-/card/HEAD?name={name}&path={quote(PAYLOAD)}")
            assert card.status_code == 200
            assert "<img" not in card.text
            assert "<script>" not in card.text


async def test_hostile_names_of_components_are_shown_as_text(stack: Stack) -> None:
    names = (f"src/{PAYLOAD}", PAYLOAD)
    (source, target), (known,) = names, stack.fake.overview.components
    link = stack.fake.overview.dependencies[0].model_copy(update={"source": source, "target": target})
    guess = link.model_copy(update={"source": target, "target": source, "references": 0})
    stack.fake.overview = stack.fake.overview.model_copy(
        update={
            "components": tuple(
                known.model_copy(update={"name": name, "description": name}) for name in names
            ),
            "dependencies": (link, guess),
        }
    )
    async with stack.rest() as http:
        await signed_in(http)
        certain = await http.get("/r/acme/app/-/map/HEAD")
        answer = await http.get("/r/acme/app/-/map/HEAD?guesses=drawn")
    assert answer.status_code == 200, answer.text
    assert certain.text.count('class="link sure"') == 1
    assert 'class="link guess"' not in certain.text
    assert "1 more by name only" in certain.text
    assert answer.text.count('<rect class="box"') == 2
    assert answer.text.count('class="link guess"') == answer.text.count('class="link sure"') == 1
    assert "<img" not in answer.text
    assert "<script>" not in answer.text
    assert " style=" not in answer.text


async def test_a_page_allows_what_its_token_allows(stack: Stack) -> None:
    secret = "prism_" + "w" * 40
    await stack.change_token(secret, tenant="default", scopes=("read",), repos=("acme/other",))
    async with stack.rest() as http:
        await signed_in(http, secret)
        assert "Add a repository" not in (await http.get("/repos")).text
        await http.get("/search?q=how")
        assert stack.fake.last().visible == frozenset({"acme/other"})
        for path in ("/repos/new", "/r/acme/app/-/reindex", "/r/acme/app/-/remove"):
            answer = await http.post(path, data={"url": "https://x.dev/a.git", "name": "a"}, headers=ORIGIN)
            assert answer.status_code == 403, path
            assert "only `read`" in answer.text
    await stack.change_token(secret, scopes=("write",))
    async with stack.rest() as http:
        await signed_in(http, secret)
        while (answer := await http.get("/search?q=how")).status_code == 200:
            pass
        assert answer.status_code == 403


def test_every_page_stands_for_a_route_or_tool() -> None:
    known = ROUTES.keys() | {tool.name for tool in TOOLS}
    for view in VIEWS:
        assert view.call in known, view.path
        if view.method != "GET":
            assert view.call in ROUTES, view.path  # what changes something is recorded as its route is
            assert not view.call.startswith("GET "), view.path
        else:
            assert not view.call.startswith(("PUT ", "PATCH ", "DELETE ")), view.path


async def test_a_form_with_a_wrong_url_shows_the_problem_and_keeps_the_fields(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        form = {"url": "https://git.example/a.git", "name": "../x", "ref": "main"}
        answer = await http.post("/repos/new", data=form, headers=ORIGIN)
    assert answer.status_code == 422
    assert "should be owner/name" in answer.text
    assert 'value="https://git.example/a.git"' in answer.text


async def test_a_removal_needs_the_name_of_the_repository(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        refused = await http.post("/r/acme/app/-/remove", data={"name": "acme/ap"}, headers=ORIGIN)
        assert refused.status_code == 422
        assert type(stack.fake.last()).__name__ != "RemoveRepositoryRequest"
        done = await http.post("/r/acme/app/-/remove", data={"name": "acme/app"}, headers=ORIGIN)
        assert done.headers["location"] == "/repos"
        assert type(stack.fake.last()).__name__ == "RemoveRepositoryRequest"
        audit = await http.get("/api/v1/audit", headers=stack.headers)
    assert [entry["action"] for entry in audit.json()["entries"]].count("repository_removed") >= 1


async def test_a_new_token_is_shown_once_and_can_be_revoked(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        form = {"label": "ci <b>", "scopes": "read", "repos": "acme/app, acme/other", "lasts": "7"}
        made = await http.post("/tokens", data=form, headers=ORIGIN | {"Accept-Encoding": "gzip"})
        (secret,) = re.findall(r"prism_[0-9A-Za-z]{38}", made.text)
        assert "content-encoding" not in made.headers  # its length must say nothing about the secret
        caller = await stack.tokens.find(secret)
        assert caller
        assert caller.scopes == {"read"}
        assert caller.repos == ("acme/app", "acme/other")
        listed = (await http.get("/tokens")).text
        assert secret not in listed
        assert "ci &lt;b&gt;" in listed
        token = caller.id.partition(":")[2]
        assert (await http.post(f"/tokens/{token}/revoke", headers=ORIGIN)).status_code == 303
        assert "revoked" in (await http.get("/tokens")).text
        audit = (await http.get("/audit")).text
    assert "token created" in audit
    assert "token revoked" in audit


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({"label": "", "scopes": "read"}, "label"),
        ({"label": "x", "scopes": "root"}, "scopes"),
        ({"label": "x", "scopes": "read", "repos": "../x"}, "repos"),
    ],
)
async def test_a_token_that_is_not_valid_is_not_made(
    stack: Stack, form: dict[str, str], problem: str
) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.post("/tokens", data=form, headers=ORIGIN)
    assert answer.status_code == 422
    assert problem in problem_of(answer)
    assert not re.search(r"prism_[0-9A-Za-z]{38}", answer.text)


async def test_a_token_grants_no_more_than_its_creator_has(stack: Stack) -> None:
    secret = "prism_" + "a" * 40
    await stack.change_token(secret, tenant="default", scopes=("admin",))
    async with stack.rest() as http:
        await signed_in(http, secret)
        answer = await http.post("/tokens", data={"label": "x", "scopes": "write"}, headers=ORIGIN)
        assert answer.status_code == 422
        assert "cannot grant scopes" in answer.text
        revoked = await http.post(f"/tokens/{digest_of(SECRET)[:12]}/revoke", headers=ORIGIN)
    assert revoked.status_code == 403


async def test_an_error_says_what_to_do_next(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        answer = await http.get("/search?q=x&repo=no/such", headers={"X-Prism-Fragment": "1"})
    assert "No such repository." in answer.text
    assert "Use one of these." in answer.text
    assert "<html" not in answer.text


async def test_running_imports_arrive_as_a_stream(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        async with http.stream("GET", "/repos/events") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    break
    assert "<" in line


async def test_the_end_of_an_import_arrives_as_an_event(stack: Stack) -> None:
    """An event without a line of data is dropped by the browser."""
    seen: list[str] = []
    async with stack.rest() as http:
        await signed_in(http)
        async with asyncio.timeout(60), http.stream("GET", "/repos/events") as answer:
            async for line in answer.aiter_lines():
                seen.append(line)
                if "<article" in line:
                    stack.fake.listed_jobs = ()
                if line == "data:":
                    break
    assert any("<article" in line for line in seen)


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"state": JobState.CLONING, "expected": 0}, "fetching for 10 s"),
        ({"expected": 0}, "comparing with the index for 10 s"),
        (
            {
                "planned_at": timedelta(seconds=-8),
                "expected": 1_002,
                "counts": JobCounts(indexed=40, skipped=2),
            },
            "42 of 1,002 files · 5 files/s · about 3 min left",
        ),
        (
            {"planned_at": timedelta(seconds=-80), "expected": 30, "counts": JobCounts(indexed=20)},
            "20 of 30 files · 15 files/min · about 40 s left",
        ),
    ],
    ids=["fetching", "comparing", "indexing", "slow"],
)
async def test_a_first_import_has_a_row_from_its_start(stack: Stack, change: dict, shown: str) -> None:
    now = datetime.now(UTC)
    moments = {"created_at": now - timedelta(seconds=10), "updated_at": now}
    if planned := change.get("planned_at"):
        moments |= {"planned_at": now + planned}
    stack.fake.listed_jobs = (A_JOB.model_copy(update=change | moments),)
    stack.fake.listed_repositories = (
        REPOSITORY.model_copy(update={"served": None, "active_job": "job-1", "last_job": "job-1"}),
    )
    async with stack.rest() as http:
        await signed_in(http)
        page = (await http.get("/repos")).text
        async with http.stream("GET", "/repos/events") as answer:
            sent = ""
            async for line in answer.aiter_lines():
                sent += line.removeprefix("data: ")
                if "</table>" in line:
                    break
    for text in (page, sent):
        row = re.search(r"<tr tabindex.*?</tr>", text, re.DOTALL)[0]
        assert "importing" in row
        assert shown in row


async def test_the_documents_of_a_team_are_named_as_such(stack: Stack) -> None:
    def documents(**served: object) -> tuple[Repository]:
        state = REPOSITORY.served.model_copy(update={"ref": "", **served})
        return (REPOSITORY.model_copy(update={"name": "prism/documents", "served": state}),)

    async with stack.rest() as http:
        await signed_in(http)
        for served, shown in (
            ({"commit": NO_TREE}, "no document yet"),
            ({"commit": NO_TREE, "dirty": True}, "documents, some of them drafts"),
            ({"commit": "c" * 40, "dirty": True}, "and drafts"),
            ({"commit": "c" * 40}, "ccccccc"),
        ):
            stack.fake.listed_repositories = documents(**served)
            page = (await http.get("/repos")).text
            assert "documents of the team" in page
            assert shown in page
            assert "uncommitted changes" not in page
            assert "tree:" not in page


async def bury(stack: Stack, **body: object) -> int:
    """Stores a dead letter. Returns its number."""
    ack = await stack.bus.js.publish(
        names.dead_letter_subject("default", "S", "c"),
        json.dumps({"tenant": "default", **body}).encode(),
        headers={
            "Prism-Subject": "prism.bulk.file.changed",
            "Prism-Consumer": "chunker-bulk-file-changed",
            "Prism-Code": "parse_failed",
            "Prism-Reason": PAYLOAD,
        },
    )
    stack.fake.letters.add(ack.seq)
    return ack.seq


async def test_what_was_given_up_is_retried_and_dropped(stack: Stack) -> None:
    number = await bury(stack, repo="r1", path="src/bad.py")
    async with stack.rest() as http:
        await signed_in(http)
        page = (await http.get("/health")).text
        assert f'action="/health/letters/{number}/retry"' in page
        assert "Reads what failed in acme/app again" in page
        retried = f"/health?retried={number}&repo=acme%2Fapp"
        for act, leads_to in (("retry", retried), ("drop", "/health#letters")):
            answer = await http.post(f"/health/letters/{number}/{act}", headers=ORIGIN)
            assert (answer.status_code, answer.headers["location"]) == (303, leads_to)
            assert (stack.fake.last().letter, stack.fake.last().tenant) == (number, "default")
        page = (await http.get(retried)).text
        entries = (await http.get("/audit")).text
    assert f'Message {number} is retried: <a href="/r/acme/app">acme/app</a> is read again' in page
    assert "letter retried" in entries
    assert "letter dropped" in entries


async def test_a_letter_that_is_gone_says_what_to_do(stack: Stack) -> None:
    async with stack.rest() as http:
        await signed_in(http)
        for act in ("retry", "drop"):
            answer = await http.post(f"/health/letters/987/{act}", headers=ORIGIN)
            assert answer.status_code == 422
            assert problem_of(answer) == "There is no dead letter 987."
        assert (await http.post("/health/letters/x/drop", headers=ORIGIN)).status_code == 422


async def test_a_letter_is_safe_from_other_sites_and_lesser_tokens(stack: Stack) -> None:
    number = await bury(stack, repo="r1", path="src/bad.py")
    secret = "prism_" + "r" * 40
    await stack.change_token(secret, tenant="default", scopes=("read", "write"))
    async with stack.rest() as http:
        await signed_in(http, secret)
        page = (await http.get("/health")).text
        assert "src/bad.py" in page
        assert "/health/letters/" not in page
        assert (await http.post(f"/health/letters/{number}/drop", headers=ORIGIN)).status_code == 403
    async with stack.rest() as http:
        await signed_in(http)
        other = {"Sec-Fetch-Site": "cross-site"}
        assert (await http.post(f"/health/letters/{number}/drop", headers=other)).status_code == 403
    assert not [one for one in stack.fake.asked if hasattr(one, "letter")]


async def test_hostile_text_of_a_letter_is_shown_as_text(stack: Stack) -> None:
    await bury(stack, repo="r1", path=PAYLOAD)
    async with stack.rest() as http:
        await signed_in(http)
        page = (await http.get("/health")).text
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") == 2
