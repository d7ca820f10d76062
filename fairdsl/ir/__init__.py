"""The intermediate representation: closed, frozen, exact. One file per concept; import them by name."""
