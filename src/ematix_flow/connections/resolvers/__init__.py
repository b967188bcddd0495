"""Where the secrets behind `${...}` are kept: one resolver per place."""
