"""The commands, one module each; `options` has what they share."""
