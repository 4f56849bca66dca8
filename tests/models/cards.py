"""Five cards, and a question for each."""

CARDS = [
    "backoff in net. delay, base, cap, jitter. Seconds until the request is sent again",
    "palette in gui. mix, red, green, share",
    "migrate in db. upgrade. Alters the table users",
    "archive in io. unpack. Opens the zip and extracts its files",
    "session in auth. is valid, token, expires at",
]
QUESTIONS = [
    "how long to wait before the next retry",
    "blend two colors",
    "add a field to a database table",
    "decompress a file",
    "has the login expired",
]
