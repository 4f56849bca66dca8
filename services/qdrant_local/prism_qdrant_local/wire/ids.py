"""Point ids: unsigned 64-bit integers or UUIDs, as in Qdrant."""

from uuid import UUID

from prism_qdrant_local.errors import bad_request
from prism_qdrant_local.limits import IDS_MAX
from prism_qdrant_local.wire.fields import UINT64_MAX, read_list

# The engine accepts strings too; `read_id` never returns one.
PointId = int | UUID | str


def read_id(value: object) -> PointId:
    """Return the id in the form in which the engine returns it, so that ids can be compared."""
    if type(value) is int and 0 <= value <= UINT64_MAX:
        return value
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError:
            pass
    raise bad_request(
        f"Format error in JSON body: value {value!r:.80} is not a valid point ID, valid values are either an unsigned integer or a UUID"
    )


def read_ids(value: object, where: str, length_max: int | None = IDS_MAX) -> list[PointId]:
    """Return a list of ids."""
    return [read_id(item) for item in read_list(value, where, length_max)]
