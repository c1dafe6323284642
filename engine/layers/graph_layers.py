"""What layers do with graphs. Portable: exports carry this source.

Graphs lie side by side: nodes (n, F) of all of them, edges (e, 2) of a node and the one it leads to, and the
number of nodes of each graph (B,). Or each is filled up to one size: nodes (N, n, F) and an adjacency matrix
(N, n, n), whose row i holds the weights of the edges that lead to node i.
"""

from __future__ import annotations

import torch
from torch import Tensor


def neighbour_sums(nodes: Tensor, edges: Tensor, weights: Tensor | None = None) -> Tensor:
    """What comes along the edges into each node, times their weights (e,), added up: (n, F)."""
    arriving = nodes[edges[:, 0]]
    if weights is not None:
        arriving = arriving * weights[:, None]
    return arriving.new_zeros(nodes.shape).index_add(0, edges[:, 1], arriving)


def neighbour_means(nodes: Tensor, edges: Tensor, weights: Tensor | None = None) -> Tensor:
    """The mean of what comes along the edges into each node, by their weights' size; 0 where none does."""
    sizes = nodes.new_ones(len(edges)) if weights is None else weights.abs()
    total = sizes.new_zeros(len(nodes)).index_add(0, edges[:, 1], sizes)
    return neighbour_sums(nodes, edges, weights) / torch.where(total > 0, total, 1.0)[:, None]


def convolved(nodes: Tensor, edges: Tensor, weights: Tensor | None = None, how: str = "symmetric") -> Tensor:
    """Each node and what comes into it, added up as if each led to itself as well.

    "symmetric" divides by the square roots of both ends' degrees (Kipf and Welling, 2017), "mean" by the
    degree of where an edge leads to, "sum" by nothing. A degree is the sum of the sizes of the weights.
    """
    weights = nodes.new_ones(len(edges)) if weights is None else weights
    source, target = edges.unbind(1)
    degree = weights.new_ones(len(nodes)).index_add(0, target, weights.abs())
    if how == "symmetric":
        weights = weights * (degree[source] * degree[target]).rsqrt()
    elif how == "mean":
        weights = weights / degree[target]
    else:
        degree = torch.ones_like(degree)
    return nodes / degree[:, None] + neighbour_sums(nodes, edges, weights)


def neighbour_means_padded(nodes: Tensor, adjacency: Tensor) -> Tensor:
    """As `neighbour_means`, by an adjacency matrix."""
    total = adjacency.abs().sum(-1, keepdim=True)
    return adjacency @ nodes / torch.where(total > 0, total, 1.0)


def convolved_padded(nodes: Tensor, adjacency: Tensor, how: str = "symmetric") -> Tensor:
    """As `convolved`, by an adjacency matrix."""
    degree = 1 + adjacency.abs().sum(-1)
    if how == "symmetric":
        adjacency = adjacency * (degree[..., None, :] * degree[..., None]).rsqrt()
    elif how == "mean":
        adjacency = adjacency / degree[..., None]
    else:
        degree = torch.ones_like(degree)
    return nodes / degree[..., None] + adjacency @ nodes


def graph_sums(nodes: Tensor, sizes: Tensor) -> Tensor:
    """The sum of the nodes of each graph, (B, F)."""
    return nodes.new_zeros(len(sizes), nodes.shape[1]).index_add(0, graph_of_node(nodes, sizes), nodes)


def graph_means(nodes: Tensor, sizes: Tensor) -> Tensor:
    """The mean of the nodes of each graph, (B, F)."""
    return graph_sums(nodes, sizes) / sizes.clamp(min=1)[:, None]


def graph_maxima(nodes: Tensor, sizes: Tensor) -> Tensor:
    """The largest value of each feature among the nodes of each graph, (B, F); 0 where it has none."""
    whose = graph_of_node(nodes, sizes)[:, None].expand_as(nodes)
    start = nodes.new_zeros(len(sizes), nodes.shape[1])
    return start.scatter_reduce(0, whose, nodes, "amax", include_self=False)


def graph_of_node(nodes: Tensor, sizes: Tensor) -> Tensor:
    """The number of the graph that each node belongs to, (n,)."""
    return torch.arange(len(sizes), device=sizes.device).repeat_interleave(sizes, output_size=len(nodes))


def masked_sums(x: Tensor, mask: Tensor) -> Tensor:
    """The sum over the places (N, T, F) where the mask (N, T) is not 0, (N, F)."""
    return torch.where(mask[..., None] != 0, x, 0.0).sum(1)


def masked_means(x: Tensor, mask: Tensor) -> Tensor:
    """The mean over the places (N, T, F) where the mask (N, T) is not 0, (N, F); 0 where there are none."""
    return masked_sums(x, mask) / (mask != 0).sum(1, keepdim=True).clamp(min=1)


def masked_maxima(x: Tensor, mask: Tensor) -> Tensor:
    """The largest of the places (N, T, F) where the mask (N, T) is not 0, (N, F); 0 where there are none."""
    there = mask[..., None] != 0
    largest = x.masked_fill(~there, -torch.inf).amax(1)
    return torch.where(there.any(1), largest, 0.0)
