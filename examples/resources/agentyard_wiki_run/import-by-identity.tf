import {
  to = agentyard_wiki_run.api
  identity = {
    id = "wiki_01hzy5b9n4q6r8s0t2v4w6x8y0"
  }
}
