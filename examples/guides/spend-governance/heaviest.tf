# The seven days that ended yesterday.
data "agentyard_analytics_users" "week" {
  last_days = 7
}

locals {
  # Rows of former members may have no email address.
  rows_of = {
    for row in data.agentyard_analytics_users.week.data :
    lower(row.user_email) => row.billable_tokens... if row.user_email != null
  }

  # sort() compares text, so the numbers need leading zeros.
  by_credits = reverse(sort([
    for email, credits in local.rows_of :
    format("%020d %s", floor(sum(credits)), email)
  ]))
  last = min(10, length(local.by_credits))
  heaviest = [
    for line in slice(local.by_credits, 0, local.last) : split(" ", line)[1]
  ]

  capped = {
    for email in local.heaviest : email => 10000000
    if contains(local.members, email)
  }
}
