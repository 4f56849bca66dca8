"""What a team writes beside its code: documents, in a git repository that NATS keeps."""
