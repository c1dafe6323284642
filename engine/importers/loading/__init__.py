"""Reads how a script loads its data: data nodes with their values, and the transforms behind them."""
