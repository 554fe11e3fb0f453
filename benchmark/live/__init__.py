"""How long a saved page takes to be findable while `wikimem watch` runs, and what the watching costs."""
