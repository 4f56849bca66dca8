from bench.trace import Span, lines


def span(name, start, end, parent=""):
    return Span(b"t", name.encode(), parent.encode(), "prism-search", name, start, end)


def own(*spans):
    return [(line.depth, line.span.name, line.own) for line in lines(spans)]


def test_own_time_excludes_child_spans():
    rows = own(span("ask", 0, 10), span("legs", 2, 5, "ask"), span("points", 4, 7, "ask"))
    assert rows == [(0, "ask", 5), (1, "legs", 3), (1, "points", 3)]


def test_span_that_outlives_its_parent_counts_once():
    rows = own(span("ask", 0, 10), span("create", 1, 1, "ask"), span("publish", 2, 8, "create"))
    assert rows == [(0, "ask", 4), (1, "create", 0), (2, "publish", 6)]


def test_span_without_its_parent_is_a_root():
    assert own(span("legs", 2, 5, "lost")) == [(0, "legs", 3)]
