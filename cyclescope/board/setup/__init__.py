"""What a run starts with: programs and their formats, snapshots, the host's files, devices."""
