"""What Python callers give in place of files: tables of any library, arrays, and estimators, as files in memory."""
