"""What keeps the house: setting up, counting proofs, trying a fresh machine, playing the docs."""
