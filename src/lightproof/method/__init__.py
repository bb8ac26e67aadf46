"""The paper, one function an equation, and what goes beyond it: arrays in, arrays out."""
