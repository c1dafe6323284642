"""Pictures of what a model does: one module a kind, gathered by `app.pictures.registry`."""
