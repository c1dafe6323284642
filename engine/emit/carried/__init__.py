"""What a script carries of ours, without what it never uses: a value that never changes is not asked for."""
