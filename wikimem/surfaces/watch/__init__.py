"""`wikimem watch`: the background work of a vault in the foreground."""
