export batch=2
D=$(dirname $(realpath $0))
cat <<EOT > $D/ds.json
{"zero_optimization": {"stage": 2}, "train_batch_size": "$X"}
EOT
cat > a.yaml <<'EOF'
base_model: Qwen/Qwen2.5-7B
micro_batch_size: 2
EOF
python - <<EOF
for x in rows: print('if')
EOF
envsubst < t.yaml > b.yaml
axolotl train a.yaml
