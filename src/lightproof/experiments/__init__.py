"""The paper's tables run again, and the demonstration."""
