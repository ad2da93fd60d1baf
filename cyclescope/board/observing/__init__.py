"""Recording during a run: timelines, waveforms, conditions, registers without a model."""
