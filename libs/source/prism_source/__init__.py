"""Reads files from a folder or a git repository into a snapshot, and turns their bytes into text.

    folder.snapshot_folder, gittree.snapshot_git, clone.mirror     sources
    snapshot.Snapshot                                              files by hash, and a way to read them
    checkout.Checkout, edits.Comparison                            the diff of a work tree against the index
    pack.plan_packs, encode_pack, decode_pack                      contents in transit to the server
    text.skip_reason, decode; classify, secrets.redact             decoding, classification, redaction
    words.PART, STOP_WORDS                                         words of code and of questions

Synchronous. Nothing here knows the bus, the index or the web, writes into a source, or follows instructions
that it contains.
"""
