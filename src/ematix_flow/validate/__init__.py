"""VALIDATE: each row is judged, in the pass that is made anyway."""
