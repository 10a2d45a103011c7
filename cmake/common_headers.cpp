// Nothing: the target of the precompiled header must have a source.
