# By the wiki run's ID.
terraform import agentyard_wiki_run.api wiki_01hzy5b9n4q6r8s0t2v4w6x8y0
