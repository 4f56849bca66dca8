"""The elements of collections: the variable behind an iterated expression, and the type of what it holds.

Works on spellings, as `type_names` does. `self.depots.iter()` iterates over `self.depots`, and an element of a
`Vec<Depot>` is a `Depot`. An expression with any other step, such as `map`, has elements of an unknown type.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from prism_chunker.core.type_names import parts_of, type_name, without_marks

ITERATED_CHARS_MAX = 160
TYPE_CHARS_MAX = 160
SPELLINGS_MAX = 4_096

# Calls that return some or all elements of a collection, in any order.
_STEPS = (
    "AsEnumerable", "Distinct", "OrderBy", "OrderByDescending", "Reverse", "Skip", "Take", "ToArray", "ToList", "Where",
    "asReversed", "asSequence", "as_deref", "as_mut", "as_mut_slice", "as_ref", "as_slice", "by_ref", "cloned", "copied",
    "distinct", "drain", "filter", "filterNot", "inspect", "into_iter", "iter", "iter_mut", "limit", "parallelStream", "peek",
    "peekable", "rev", "reversed", "skip", "skip_while", "slice", "sorted", "sortedBy", "step_by", "stream", "take",
    "take_while", "toList",
)  # fmt: skip
_VALUES = frozenset({"values", "values_mut", "into_values"})
_GROUP = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_ITERATED = re.compile(
    rf"(?:&(?:mut\s+)?|\*|\(\s*)*(?P<name>[^\W\d]\w*(?:\??\.[^\W\d]\w*(?![\w(]|\s*[({{]))?)"
    rf"(?:\[[^\[\]:.]*(?:\.\.=?|:)[^\[\]:.]*\])?"
    rf"(?:\s*\??\.\s*(?P<values>{'|'.join(sorted(_VALUES))})\s*\(\))?"
    rf"(?:\s*\??\.\s*(?:{'|'.join(_STEPS)})\s*(?:{_GROUP}|\{{[^{{}}]*\}}))*\s*\)*"
)
# `self .depots .iter()`: a chain over several lines.
_AROUND_DOT = re.compile(r"\s*(\??\.)\s*(?!\.)")
_NAMED = re.compile(r"\\?((?:[^\W\d]\w*(?:\.|::|\\))*)([^\W\d]\w*)\s*[<\[](.*)[>\]]", re.DOTALL)
# A collection of Go: `[]*Depot`, `[3]Depot`, `map[string]Depot`.
_IN_GO = re.compile(r"(?:\[(?:\w+|\.\.\.)?\]|map\[[^\[\]]+\])\s*(?P<element>[*\w.]+(?:\[.*\])?)")
_WILDCARD = re.compile(r"^(?:(?:\?\s*extends|out|in)\s+|Item\s*=\s*)")
# Types that are used like what they hold.
_HOLDERS = frozenset({"Arc", "Box", "Cow", "Final", "Rc", "Readonly", "RefMut", "ClassVar"})
_COLLECTIONS = frozenset(
    {
        "AbstractSet", "Array", "ArrayDeque", "ArrayList", "AsyncGenerator", "AsyncIterable", "AsyncIterator", "BTreeSet", "BinaryHeap", "Collection", "ConcurrentBag",
        "ConcurrentQueue", "Deque", "Generator", "HashSet", "ICollection", "IEnumerable", "IList", "IQueryable", "IReadOnlyCollection",
        "IReadOnlyList", "ISet", "ImmutableArray", "ImmutableList", "IntoIterator", "Iterable", "Iterator", "LinkedHashSet", "LinkedList",
        "List", "MutableCollection", "MutableList", "MutableSet", "MutableSequence", "Option", "Optional", "PriorityQueue",
        "Queue", "ReadonlyArray", "ReadonlySet", "Sequence", "Set", "SmallVec", "SortedSet", "Stack", "Stream", "TreeSet",
        "Vec", "VecDeque", "Vector", "deque", "forward_list", "frozenset", "initializer_list", "list", "multiset", "set", "span",
        "unordered_set", "vector",
    }
)  # fmt: skip
_MAPS = frozenset(
    {
        "BTreeMap", "ConcurrentDictionary", "Dict", "Dictionary", "HashMap", "LinkedHashMap", "Map", "Mapping", "MutableMap",
        "MutableMapping", "OrderedDict", "ReadonlyMap", "Record", "TreeMap", "defaultdict", "dict",
    }
)  # fmt: skip


def iterated(expression: str) -> tuple[str, bool]:
    """Returns the variable whose elements an expression has, and whether these are the values of a map; empty if unknown.

    >>> iterated("&self.depots.iter().rev()")
    ('self.depots', False)
    """
    expression = _AROUND_DOT.sub(r"\1", expression)
    found = _ITERATED.fullmatch(expression) if len(expression) <= ITERATED_CHARS_MAX else None
    return (found["name"].replace("?", ""), bool(found["values"])) if found else ("", False)


@lru_cache(maxsize=SPELLINGS_MAX)
def element_type(spelling: str, *, of_values: bool) -> str:
    """Returns the type of the elements of a collection, or of the values of a map; empty if it is no known one.

    >>> element_type("&mut Vec<Box<Depot>>", of_values=False)
    'Depot'
    """
    alternatives = parts_of(without_marks(spelling), "|") if len(spelling) <= TYPE_CHARS_MAX else ()
    bare = without_marks(alternatives[0].rstrip("?!& ")) if len(alternatives) == 1 else ""
    if in_go := _IN_GO.fullmatch(bare):  # both have elements of one type: what `range` yields last
        return "" if of_values else type_name(in_go["element"])
    is_array = bare.endswith("[]") or (bare.startswith("[") and bare.endswith("]"))
    if is_array:
        return "" if of_values else type_name(_inside_array(bare))
    named = _NAMED.fullmatch(bare)
    if named is None:
        return ""
    if named[2] == "Optional" and bare.endswith("]"):  # in Python, no collection
        return element_type(named[3], of_values=of_values)
    return _argument(named[2], parts_of(named[3], ","), of_values=of_values)


def _inside_array(bare: str) -> str:
    """Returns the type of the elements of `Depot[]`, `(readonly Depot)[]` or `[Depot; 3]`."""
    if bare.startswith("["):
        return bare[1:-1].partition(";")[0]
    inner = bare[:-2].strip()
    return inner[1:-1] if inner.startswith("(") else inner


def _argument(name: str, inside: Sequence[str], *, of_values: bool) -> str:
    """Returns the type argument of a collection that says what its elements are; empty for any other type."""
    if name in _HOLDERS and inside:
        return element_type(inside[0], of_values=of_values)
    position = 1 if of_values else 0
    if name not in (_MAPS if of_values else _COLLECTIONS) or len(inside) <= position:
        return ""
    return type_name(_WILDCARD.sub("", inside[position]))
