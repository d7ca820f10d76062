"""Solver files: written, solved, and recovered from answers, whatever their format.

    spec --write--> files and a manifest --solve (or any other solver)--> answers --recover--> report

questions.py what a spec asks, derived when files are written and when read   folder.py   replaced as a whole
write.py     files, and the manifest
manifest.py  what each file asks                                              answers.py  found beside the files
solve.py     one file, by a solver of ours                                    report.py   demands that files state
recover.py   the report                                                       errors.py   what does not fit together

What a format is, its encoding says (:mod:`fairdsl.backends.encoding`); nothing here knows one of them.
"""
