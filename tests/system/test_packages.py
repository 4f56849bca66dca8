"""Two repositories of a tenant, one of which depends on a package of the other."""

RATES = {
    "package.json": '{"name": "@acme/rates", "main": "dist/index.js"}',
    "src/index.ts": "export { weighZone } from './zones';\n",
    "src/zones.ts": "export function weighZone(zone: number) { return zone }\n",
}
USER = "import { weighZone } from '@acme/rates';\n\nexport const fee = () => weighZone(3);\n"
APP = {"package.json": '{"name": "app", "dependencies": {"@acme/rates": "^1"}}', "src/fee.ts": USER}
OTHER = {"package.json": '{"name": "other"}', "src/fee.ts": USER}


async def test_callers_in_a_dependent_repository_are_resolved(shared_stack, make_repo) -> None:
    tenant = await shared_stack.of_tenant("packages")
    for name, files in (("rates", RATES), ("app", APP), ("other", OTHER)):
        tenant.index(make_repo(name, files).folder, "--name", f"acme/{name}")
    async with tenant.agent() as agent:
        (answer,) = (await agent.ask("find_references", symbols=["weighZone"]))["answers"]
    callers = {(one["repo"], one["status"], one["strategy"]) for one in answer["groups"]["callers"]}
    assert callers == {("acme/app", "resolved", "package"), ("acme/other", "candidate", "only_definition")}
