"""From graph to Python: `engine.emit.script` writes it, `engine.emit.program` runs it."""
