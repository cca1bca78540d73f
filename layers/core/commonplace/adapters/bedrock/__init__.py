"""Models of Amazon Bedrock: embeddings and reranking."""
