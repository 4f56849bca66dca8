"""Names of routes for metrics, log lines and spans: templates, so that there are few."""

from collections.abc import Iterable

from starlette.types import Scope

from prism_gateway.scopes import OPEN_ROUTES, ROUTES
from prism_runtime.metrics import OTHER

REST_PREFIX = "/api/v1"
TEMPLATE_KEY = "console_path"  # in the state of a request for a page of the console


class RouteNames:
    """The names of the routes of the gateway."""

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths` are those of the routes outside of REST."""
        # A refused request has no route yet. Its path says which it wanted, unless the route has parameters.
        self._paths = {*paths, *(REST_PREFIX + path for path in _rest_paths() if "{" not in path)}

    def of(self, scope: Scope) -> str:
        """Returns the template of a request's route, such as `/api/v1/jobs/{job}`; `other` without one."""
        if template := scope.get("state", {}).get(TEMPLATE_KEY):
            return str(template)
        route, path = scope.get("route"), scope["path"]
        if route is not None:
            return str(REST_PREFIX + route.path_format)
        return path if path in self._paths else OTHER


def _rest_paths() -> set[str]:
    return {name.partition(" ")[2] for name in (*ROUTES, *OPEN_ROUTES)}
