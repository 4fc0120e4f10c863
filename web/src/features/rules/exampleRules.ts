/** Example rules: one that requires approval, and one in shadow mode. */
export const EXAMPLE_RULES = `version: "1.0"
checkpoints:
  - name: High risk
    description: High-risk requests need approval.
    trigger:
      risk_level: [high, critical]
    action:
      timeout_seconds: 3600
auto_approval:
  enabled: true
  rules:
    - name: Small payments
      description: Records what it would have approved. Set shadow to false to approve.
      shadow: true
      conditions:
        operation_type: financial_transaction
        all:
          - { field: amount, operator: "<=", value: 50 }
          - { field: currency, value: EUR }
        confidence: ">= 0.9"
      action:
        auto_approve: true
        limit: { count: 20, sum: amount, max: 500, per: day }
        rollout_percentage: 25
        audit_sample_percentage: 10
`
