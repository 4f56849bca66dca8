"""The leading comment of a file."""

import time

import pytest

from prism_resolver.prose import SENTENCE_CHARS_MAX, first_comments, first_sentence, leading_sentence

CPU_MAX_S = 0.5


@pytest.mark.parametrize(
    ("opening", "sentence"),
    [
        ('"""Where parcels wait for a tour."""\n', "Where parcels wait for a tour."),
        ("#!/usr/bin/env python\n# Where parcels wait for a tour.\n", "Where parcels wait for a tour."),
        ("#![allow(dead_code)]\n//! Where parcels wait for a tour.\n", "Where parcels wait for a tour."),
        ("/* Copyright Ada. */\n\n/* Where parcels wait for a tour. */\n", "Where parcels wait for a tour."),
        ("// Package depot is where parcels wait.\npackage depot\n", "Package depot is where parcels wait."),
        (
            "/* eslint-disable no-undef */\n/** @internal */\n// Where parcels wait for a tour.\n",
            "Where parcels wait for a tour.",
        ),
        (
            "# frozen_string_literal: true\n\n# Where parcels wait for a tour.\n",
            "Where parcels wait for a tour.",
        ),
        ("/** @public */\nexport const depot = 1;\n", ""),
        ("import rates\n# Not about the file as a whole.\n", ""),
        ("/* All rights reserved. */\npackage depot;\n", ""),
        ("", ""),
    ],
)
def test_the_leading_comment_gives_a_sentence(opening, sentence):
    assert leading_sentence(opening) == sentence


def test_a_sentence_is_one_line_without_its_period():
    assert (
        first_sentence("Where <b>parcels</b>\n   wait for `tours`. And more.")
        == "Where parcels wait for tours."
    )
    assert len(first_sentence("parcel " * 100)) == SENTENCE_CHARS_MAX
    assert first_sentence("") == ""


@pytest.mark.parametrize("line", ["#!\n", "#! x\n\n", "/*", '"""', "{-", "<!--", "#!/*", " \n"])
def test_openings_without_a_comment_take_linear_time(line) -> None:
    opening = line * 20_000
    started = time.process_time()
    leading_sentence(opening)
    first_comments(opening)
    assert time.process_time() - started < CPU_MAX_S


def test_text_after_an_unclosed_comment_is_still_read() -> None:
    assert first_comments("{- /* One. */\n{- /* Two. */") == "One. Two."
