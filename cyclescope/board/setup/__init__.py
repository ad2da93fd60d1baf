"""The start of a run: programs and their formats, snapshots, the host's files, devices."""
