"""How questions are understood and answers are ordered. Pure: no store, no broker, no clock."""
