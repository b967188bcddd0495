"""Sessions: how one is built, sized, reached, watched and understood when it fails."""
