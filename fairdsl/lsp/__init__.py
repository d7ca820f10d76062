"""The language server: what an editor asks about a spec that is being written, over the Language Server Protocol.

``server.py`` is the list of what it answers; every other file answers one kind of question and knows no more of the
protocol than its data types. Nothing is found out twice: findings are those of ``fairdsl lint``, layouts those of
``fairdsl fmt``, verdicts those of ``fairdsl check``, of the texts in the editor instead of the files.
"""
