"""Every bound of the server that is not a setting, each with its unit."""

# Points per engine call. The engine blocks the interpreter for about 0.15 ms per point, so this is the
# longest time that a query waits for a writer. A request of at most this many points is atomic for readers.
SLICE_POINTS = 100
# Threads of the engine, for reads. It wakes all of them for each part of a question, and a part takes less time than
# the wake-up. With one thread per CPU and two more, a question was switched 300 times between them, at twice
# the CPU.
SEARCH_THREADS = 1
# Turns of the event loop between two slices: accept, read, parse, answer.
READER_TURNS = 4
# Points written since the last flush. A flush blocks the server for about 10 ms and 9 us per point, and a
# restart after a kill replays at most this many.
UNFLUSHED_POINTS_MAX = 5_000
# A compaction costs 0.3 ms of CPU for every point of the collection, and frees 5 KB of memory for each point
# written since the last one. So it waits for this number of points, and for this share of all.
UNCOMPACTED_POINTS_MIN = 5_000
UNCOMPACTED_SHARE_MIN = 0.25
# Kept in memory during a compaction; beyond it the compaction is cancelled.
LATE_OPERATIONS_MAX = 200
# Points looked up at a time by a delete or a payload change that selects by filter.
FILTER_PAGE_POINTS = 1_000

LIMIT_MAX = 10_000
OFFSET_MAX = 1_000_000
IDS_MAX = 10_000
BATCH_QUERIES_MAX = 100
BATCH_QUERIES_PER_TURN = 16
BATCH_OPERATIONS_MAX = 1_000
FILTER_DEPTH_MAX = 16
PREFETCH_DEPTH_MAX = 4
# The engine stores payloads nested deeper than 127 levels, and cannot read them back.
PAYLOAD_DEPTH_MAX = 64
VECTOR_SIZE_MAX = 65_536
NAME_LENGTH_MAX = 255
