"""The leading comment of a file."""

import pytest
from cpu_time import within_cpu_s

from prism_resolver.prose import SENTENCE_CHARS_MAX, first_comments, first_sentence, leading_comments

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
    said = (first_sentence(text) for _, text in leading_comments(opening))
    assert next(filter(None, said), "") == sentence


def test_leading_comments_have_their_first_lines():
    opening = "#!/bin/sh\n# One.\n\n# Two,\n# and on.\nrun\n# Three.\n"
    assert [(line, text.split("\n")[0]) for line, text in leading_comments(opening)] == [
        (2, "One."),
        (4, "Two,"),
    ]


def test_a_sentence_is_one_line_without_its_period():
    assert (
        first_sentence("Where <b>parcels</b>\n   wait for `tours`. And more.")
        == "Where parcels wait for tours."
    )
    assert (
        first_sentence("parcel " * 100) == "parcel " * (SENTENCE_CHARS_MAX // len("parcel ") - 1) + "parcel…"
    )
    assert first_sentence("") == ""


@pytest.mark.parametrize(
    ("prose", "sentence"),
    [
        (
            "The :class:`~depot.Dock` of [vans](vans.md), see {@link Crane}.",
            "The depot.Dock of vans, see Crane.",
        ),
        ("Opens a dock_door in place.\n\n:param name: its name", "Opens a dock_door in place."),
        ("Opens a dock\n@param name its name", "Opens a dock"),
        ("@fileoverview Where vans unload.\n@author Ada", "Where vans unload."),
        ("Waits, e.g. for a van. Then opens.", "Waits, e.g. for a van."),
        ("TODO: Wait for a van.", ""),
        ("See https://depot.example/vans", ""),
        ("van = dock.next(1);", ""),
        ("This module is based on the work of Ada.\n\nWhere vans unload.", "Where vans unload."),
    ],
)
def test_first_sentence_is_prose_without_markup(prose, sentence):
    assert first_sentence(prose) == sentence


@pytest.mark.parametrize("line", ["#!\n", "#! x\n\n", "/*", '"""', "{-", "<!--", "#!/*", " \n"])
def test_openings_without_a_comment_take_linear_time(line) -> None:
    opening = line * 20_000
    within_cpu_s(CPU_MAX_S, lambda: list(leading_comments(opening)))
    within_cpu_s(CPU_MAX_S, first_comments, opening)


def test_text_after_an_unclosed_comment_is_still_read() -> None:
    assert first_comments("{- /* One. */\n{- /* Two. */") == "One. Two."
