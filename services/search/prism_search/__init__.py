"""Answers questions: legs in one round trip, fused, ranked, explained. Writes nothing."""
