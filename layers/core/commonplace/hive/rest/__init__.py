"""The hive over REST, for agents and for reviewers: what `commonplace.hive.client` and the command line call."""
