"""Names components after folders, and reports where folders and components disagree."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import log

import numpy as np

from prism_atlas.core.analysis import Analysis
from prism_atlas.core.graph import NONE
from prism_atlas.core.layers import LAYERS, layers_of
from prism_contracts.rpc.maps import Divergence, Outlier, Spread

# Minimum fit of a folder that gives a component its name.
NAME_FIT_MIN = 0.5
# Fewer files are too few to report.
SPREAD_FILES_MIN = 4
# A folder or component is spread out if its largest part is below this share.
MAIN_SHARE_MIN = 0.6
PLACES_SHOWN_MAX = 5


def folder_of(path: str) -> str:
    """Returns the folder of a file; `.` at the top."""
    return path.rpartition("/")[0] or "."


def component_names(analysis: Analysis) -> list[str]:
    """Returns the name of each component: the best fitting folder, or else its most depended-upon file.

    The fit is the harmonic mean of two shares: of the component's files that are in the folder, and of the
    folder's files that are in the component. Components with a better fit choose first.
    """
    members = component_files(analysis)
    paths = [[analysis.graph.path(file) for file in files] for files in members]
    sizes = Counter(folder for group in paths for path in group for folder in _folders(path))
    choices = [_fits(group, sizes) for group in paths]
    names = [analysis.graph.path(_central(analysis, files)) for files in members]
    layer = layers_of(analysis.graph)
    taken: set[str] = set()
    for number, files in enumerate(members):
        if layer[files[0]] != NONE:
            names[number] = LAYERS[layer[files[0]]]
            taken.add(names[number])
            choices[number] = []
    for number in sorted(
        range(len(names)), key=lambda number: -choices[number][0][0] if choices[number] else 0.0
    ):
        free = (folder for _, folder in choices[number] if folder not in taken)
        names[number] = next(free, names[number])
        taken.add(names[number])
    return names


def component_files(analysis: Analysis) -> list[list[int]]:
    """Returns the files of each component, highest rank first."""
    component = analysis.communities.component
    groups: list[list[int]] = [[] for _ in range(int(component.max(initial=NONE)) + 1)]
    for file in np.argsort(-analysis.ranks.file, kind="stable").tolist():
        if component[file] != NONE:
            groups[component[file]].append(file)
    return groups


def divergence(analysis: Analysis, names: Sequence[str], limit: int) -> Divergence:
    """Returns where folders and components disagree, over all files that are in a component."""
    graph = analysis.graph
    # Highest rank first.
    placed = [
        file
        for file in np.argsort(-analysis.ranks.file, kind="stable").tolist()
        if analysis.communities.component[file] != NONE
    ]
    components = [names[analysis.communities.component[file]] for file in placed]
    paths = [graph.path(file) for file in placed]
    folders = [folder_of(path) for path in paths]
    by_folder, by_component = _counts(folders, components), _counts(components, folders)
    return Divergence(
        agreement=round(agreement(folders, components), 3),
        folders=tuple(_spreads(by_folder))[:limit],
        components=tuple(_spreads(by_component))[:limit],
        outliers=tuple(islice(_outliers(paths, components, by_folder), limit)),
    )


def agreement(first: Sequence[str], second: Sequence[str]) -> float:
    """Normalized mutual information of two partitions (Strehl & Ghosh, 2002; arithmetic mean)."""
    entropies = _entropy(Counter(first)) + _entropy(Counter(second))
    if entropies == 0:
        return 1.0
    return 2 * (entropies - _entropy(Counter(zip(first, second, strict=True)))) / entropies


def _entropy(counts: Counter[str] | Counter[tuple[str, str]]) -> float:
    total = counts.total()
    return -sum(count / total * log(count / total) for count in counts.values())


def _folders(path: str) -> Iterator[str]:
    """Yields the folders above a file, innermost first, without the top."""
    while path := path.rpartition("/")[0]:
        yield path


def _fits(paths: Sequence[str], sizes: Counter[str]) -> list[tuple[float, str]]:
    """Returns how well folders fit a component, best first; of equal fits the inner folder first."""
    shared = Counter(folder for path in paths for folder in _folders(path))
    # A folder with nothing but one folder is no better a name than that.
    inner = {(folder.rpartition("/")[0], size) for folder, size in sizes.items()}
    fits = [
        (2 * count / (len(paths) + sizes[folder]), folder)
        for folder, count in shared.items()
        if (folder, sizes[folder]) not in inner
    ]
    return sorted(
        (fit for fit in fits if fit[0] >= NAME_FIT_MIN), key=lambda fit: (-fit[0], -len(fit[1]), fit[1])
    )


def _central(analysis: Analysis, files: Sequence[int]) -> int:
    return max(files, key=lambda file: (analysis.ranks.file[file], -file))


def _counts(first: Sequence[str], second: Sequence[str]) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for one, other in zip(first, second, strict=True):
        counts[one][other] += 1
    return counts


def _spreads(counts: Mapping[str, Counter[str]]) -> list[Spread]:
    """Returns the spread out ones, largest first."""
    spread = [
        (name, over) for name, over in counts.items() if over.total() >= SPREAD_FILES_MIN and _is_spread(over)
    ]
    spread.sort(key=lambda one: (-one[1].total(), one[0]))
    return [
        Spread(name=name, files=over.total(), over=dict(over.most_common(PLACES_SHOWN_MAX)))
        for name, over in spread
    ]


def _outliers(
    paths: Sequence[str], components: Sequence[str], by_folder: Mapping[str, Counter[str]]
) -> Iterator[Outlier]:
    """Yields the files that are in another component than most of their folder."""
    for path, component in zip(paths, components, strict=True):
        over = by_folder[folder_of(path)]
        if over.total() >= SPREAD_FILES_MIN and not _is_spread(over):
            main = max(over, key=lambda name: (over[name], name))
            if component != main:
                yield Outlier(file_path=path, component=component, folder_component=main)


def _is_spread(over: Counter[str]) -> bool:
    return max(over.values()) < MAIN_SHARE_MIN * over.total()
