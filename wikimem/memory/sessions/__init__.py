"""Sessions: from what hooks reported to pages that say what was asked, done and decided."""
