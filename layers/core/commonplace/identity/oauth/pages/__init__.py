"""What a person sees of the authorization server."""
