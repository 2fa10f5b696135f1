train() {
  local TP=$1
  torchrun --nproc-per-node ${GPUS:-8} pretrain_gpt.py --tensor-model-parallel-size $TP "$@"
}
source fuzz.sh
while [ $# -gt 0 ]; do case $1 in --tp) TP=$2 ;; esac; shift; done
if [ $BATCH -eq 0 ]; then train 4 --num-layers 24; else train 8; fi
