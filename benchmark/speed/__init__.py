"""Speed, memory and size of wikimem on generated vaults, each beside something measured in the same run."""
