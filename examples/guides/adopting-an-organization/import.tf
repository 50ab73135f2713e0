locals {
  # Names and IDs of the computers to import.
  computers = {
    build-1 = "6f1c2d6e-0b5e-4f43-9a39-1c6d7e9b8a10"
    build-2 = "a3d9be41-62c7-4c0f-8b53-90f1d2e4c6b7"
  }
}

import {
  for_each = local.computers
  to       = agentyard_computer.adopted[each.key]
  id       = each.value
}

resource "agentyard_computer" "adopted" {
  for_each = local.computers

  name = each.key
}
