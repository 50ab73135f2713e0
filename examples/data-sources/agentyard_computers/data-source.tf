data "agentyard_computers" "all" {
  include_unlisted = true
}

output "not_active" {
  value = [
    for c in data.agentyard_computers.all.computers :
    c.name if c.status != "active"
  ]
}
