"""The commands of ``deniable``, one file each."""
