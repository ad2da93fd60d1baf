"""What is recorded during a run: timelines, waveforms, conditions, registers without a model."""
