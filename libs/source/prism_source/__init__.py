"""How files get from a folder or a git repository into a snapshot, and from a snapshot into text.

    folder.snapshot_folder, gittree.snapshot_git, clone.mirror     sources
    snapshot.Snapshot                                              files by hash, and a way to read them
    checkout.Checkout, edits.Comparison                            what a work tree has otherwise than what is served
    pack.plan_packs, encode_pack, decode_pack                      contents on their way to the server
    text.skip_reason, decode; classify, secrets.redact             what becomes of the bytes

Synchronous. Nothing here knows the bus, the index or the web, writes into a source, or follows what a source says.
"""
